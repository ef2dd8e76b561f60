/** Pieces many menus share. */
import type { Property } from '../definition.ts';

export const text: Property = {};
export const readOnly: Property = { readOnly: true };
export const comment: Property = {};
export const disabled: Property = { type: 'bool', default: 'false' };
export const flag = (value: 'true' | 'false'): Property => ({ type: 'bool', default: value });
export const fixed = (value: string): Property => ({ default: value });
export const counter: Property = { readOnly: true, default: '0' };

/** Sizes of packets; what a board can do beyond is its own affair. */
const MTU = { from: 68, to: 65_535 };
export const mtu: Property = { type: MTU, default: '1500' };
export const autoMtu: Property = { type: { oneOf: [MTU, ['auto']] }, default: 'auto' };
export const VLAN_ID = { from: 1, to: 4094 };
export const DISTANCE = { from: 1, to: 255 };

/** The end of nearly every list entry. */
export const FLAGS: Readonly<Record<string, Property>> = { invalid: readOnly, dynamic: readOnly, disabled, comment };
