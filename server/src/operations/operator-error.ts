// The error of an operator who asked for what cannot be. Apart from the operations, which import those that throw it.

/** The operator asked for something that cannot be; the message says what would be right. */
export class OperatorError extends Error {}
