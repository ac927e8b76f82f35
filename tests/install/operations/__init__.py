"""Operations on the installed skills of a project."""
