// Hands the areas to the shell, which so needs to know none of them.
// Holds nothing of its own.

import { createContext, useContext } from 'react';
import type { Area } from './area.ts';

export const AreasContext = createContext<readonly Area[]>([]);

export const useAreas = (): readonly Area[] => useContext(AreasContext);
