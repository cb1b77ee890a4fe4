// Where in a text a line stands, so that what is said of it can be shown there.

export interface Place {
  from: number;
  to: number;
}

// Without the blanks around it; a line beyond the end is the end. Lines count from 1.
export function placeOfLine(text: string, line: number): Place {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const shown = lines[line - 1] ?? "";
  const from = Math.min(text.length, before + shown.length - shown.trimStart().length);
  return { from, to: from + shown.trim().length };
}
