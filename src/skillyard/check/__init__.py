"""Files to findings: validation, fixes, and the scan for malicious techniques."""
