// Only errors are told.
// Writes nothing by itself.

module.exports = { level: 'error' };
