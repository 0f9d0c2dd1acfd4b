"""What a person, a token or a participant may have of models: so many answers, so much money, a day or in all."""
