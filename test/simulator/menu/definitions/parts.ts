/** Pieces many menus share. */
import type { Property } from '../definition.ts';

export const text: Property = {};
export const readOnly: Property = { readOnly: true };
export const comment: Property = {};
export const disabled: Property = { type: 'bool', default: 'false' };
export const flag = (value: 'true' | 'false'): Property => ({ type: 'bool', default: value });
export const fixed = (value: string): Property => ({ default: value });
export const counter: Property = { readOnly: true, default: '0' };

/** The end of nearly every list entry. */
export const FLAGS: Readonly<Record<string, Property>> = { invalid: readOnly, dynamic: readOnly, disabled, comment };
