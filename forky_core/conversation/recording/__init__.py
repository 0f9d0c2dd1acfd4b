"""What other programs send: arrays matched, filed and recorded, answers given again."""
