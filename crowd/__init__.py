"""Between a campaign and its crowd platform: publishing HITs, following submissions, paying."""
