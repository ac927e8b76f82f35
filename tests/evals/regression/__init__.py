"""Results against baselines: every rule at its threshold, and files that are not what they say."""
