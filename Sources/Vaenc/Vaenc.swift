// Vaenc
