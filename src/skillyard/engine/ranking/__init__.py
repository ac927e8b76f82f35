"""From a query and a catalog to a total order of skills with explanations."""
