// Where in a JSON text a field stands, so that what is said of it can be shown beside it.

export interface Place {
  from: number;
  to: number;
}

const kBlank = /[ \t\r\n]*/y;
const kString = /"(?:[^"\\]|\\.)*"/y;
const kWord = /[^\s,\]}]+/y;

// Each field by its pointer (RFC 6901): its name and value. Reads as far as the text is JSON.
export function fieldPlaces(text: string): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  };
  const next = (sign: string): boolean => {
    take(kBlank);
    if (text[at] !== sign) return false;
    at += 1;
    return true;
  };
  const item = (pointer: string, from: number): boolean => {
    const whole = value(pointer);
    places.set(pointer, { from, to: at });
    return whole;
  };
  const member = (pointer: string): boolean => {
    take(kBlank);
    const from = at;
    const name = take(kString);
    if (name === "" || !next(":")) return false;
    return item(`${pointer}/${nameOf(name).replaceAll("~", "~0").replaceAll("/", "~1")}`, from);
  };
  const list = (end: string, each: (index: number) => boolean): boolean => {
    if (next(end)) return true;
    for (let index = 0; ; index += 1) {
      if (!each(index)) return false;
      if (next(end)) return true;
      if (!next(",")) return false;
    }
  };
  const value = (pointer: string): boolean => {
    if (next("{")) return list("}", () => member(pointer));
    if (next("[")) return list("]", (index) => { take(kBlank); return item(`${pointer}/${index}`, at); });
    return take(kString) !== "" || take(kWord) !== "";
  };
  item("", 0);
  return places;
}

function nameOf(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}

// The field, or, of one that is missing, the nearest part that it is missing from; null: that is the whole text.
export function placeOf(places: ReadonlyMap<string, Place>, pointer: string): Place | null {
  for (let part = pointer; part !== ""; part = part.slice(0, part.lastIndexOf("/"))) {
    const place = places.get(part);
    if (place) return place;
  }
  return null;
}

export function lineOf(text: string, at: number): number { return text.slice(0, at).split("\n").length; }

// The place that the daemon names where a text is no JSON, both numbers from 1.
export function placeAt(text: string, line: number, column: number): Place {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const from = Math.min(text.length, before + Math.max(0, column - 1));
  return { from, to: Math.min(text.length, from + 1) };
}
