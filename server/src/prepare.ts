// Part of every installation (`prepare`): makes what the first start of an embedded database would otherwise wait for.
// Speeds up that start and nothing else, so an installation never fails for it.

import { prepareTemplate } from './store/pglite.ts';
import { describe } from './store/statements.ts';

try {
  await prepareTemplate();
} catch (error) {
  console.log(`The files of an embedded database were not made ahead: ${describe(error)}. The first start makes them.`);
}
