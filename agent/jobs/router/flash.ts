/** On boards with this folder, only files in it survive a reboot. */
export const FLASH = 'flash';
