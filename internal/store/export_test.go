package store

// ReadMigrations lets tests read other files.
var ReadMigrations = readMigrations
