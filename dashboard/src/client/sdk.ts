// The TypeScript client, from its source: the dashboard's only way to the server.
// Hands on and adds nothing; every other file imports from here.

export * from '../../../sdks/typescript/src/index.ts';
