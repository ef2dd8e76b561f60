import type { Catalogue } from './catalogue.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import type { Locale } from './types.ts';

export const CATALOGUES: Readonly<Record<Locale, Catalogue>> = { en, de, es };
