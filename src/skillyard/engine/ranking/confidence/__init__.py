"""The ``confidence`` scorer: file patterns and keywords of the "Skill Evaluation System"."""
