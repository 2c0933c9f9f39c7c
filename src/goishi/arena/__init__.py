"""Games between players: played, recorded, measured."""
