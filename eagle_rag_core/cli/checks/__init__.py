"""What ``eagle-rag doctor`` looks at besides the library: the machine, the services, the models."""
