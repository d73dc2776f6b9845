// Preview
