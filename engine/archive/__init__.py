"""The skill archive as a fold over events: skills, rates, failures, lineage, the prerequisite graph."""
