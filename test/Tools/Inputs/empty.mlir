func.func @nothing() { return }
