"""What reaches a model: catalogue summaries, prompt blocks, tools, and the coordinator."""
