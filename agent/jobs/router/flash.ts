/** Boards with this folder keep only what is in it over a reboot. */
export const FLASH = 'flash';
