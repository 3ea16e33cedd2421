"""Serving over HTTP: who may connect, what a request may weigh, when a call ends, and how a server
stops without losing one."""
