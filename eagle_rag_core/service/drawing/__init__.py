"""Drawing pages in processes of their own, which a hostile file may end without harm."""
