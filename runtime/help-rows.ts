/** Width of help texts in characters: the default width of a terminal. */
const LINE_WIDTH = 80;

/** Aligned rows of a help text, such as options and their descriptions. A long description continues on the next line. */
export function helpRows(rows: readonly (readonly [name: string, description: string])[]): string[] {
  const nameWidth = Math.max(...rows.map(([name]) => name.length));
  const indent = ' '.repeat(nameWidth + 4);
  return rows.map(([name, description]) => {
    const lines = wrapText(description, LINE_WIDTH - indent.length);
    return `  ${name.padEnd(nameWidth)}  ${lines.join(`\n${indent}`)}\n`;
  });
}

/**
 * Breaks text between words. A word that is longer than the width gets a line of its own.
 * @param widthOf cells of a text on the screen; by default one for each character
 */
export function wrapText(text: string, width: number, widthOf = (part: string): number => part.length): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && widthOf(line) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** `list the routers` as a sentence: `List the routers.` */
export function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}
