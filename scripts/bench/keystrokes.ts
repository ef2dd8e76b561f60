/** Each of them changes how many routers match, which is how the page shows that it has filtered. */
export const KEYSTROKES = ['9', '8', '7', '6'];
