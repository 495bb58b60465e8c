# Made by clients/generate. Not edited by hand.
