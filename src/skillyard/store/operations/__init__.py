"""What the commands of ``store`` do."""
