/*
 * CSV as RFC 4180 defines it, read without the code that writes it.
 */

/** The lines of a text of CSV. A cell that is empty and not quoted is null. @throws for what is no CSV. */
export function parseCsv(text: string): (string | null)[][] {
  const lines: (string | null)[][] = []
  let at = 0
  while (at < text.length) {
    const cells: (string | null)[] = []
    for (;;) {
      const { cell, end } = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at)
      cells.push(cell)
      at = end
      if (text[at] !== ',') break
      at++
    }
    if (text.slice(at, at + 2) !== '\r\n') throw new Error(`A line does not end at ${at}: ${text.slice(at, at + 20)}`)
    lines.push(cells)
    at += 2
  }
  return lines
}

function plainCell(text: string, start: number): { cell: string | null; end: number } {
  let end = start
  while (end < text.length && text[end] !== ',' && text[end] !== '\r') end++
  const cell = text.slice(start, end)
  if (/["\n]/.test(cell)) throw new Error(`A cell has to be quoted: ${cell}`)
  return { cell: cell === '' ? null : cell, end }
}

function quotedCell(text: string, start: number): { cell: string; end: number } {
  let cell = ''
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] !== '"') cell += text[at]
    else if (text[at + 1] === '"') cell += text[at++]
    else return { cell, end: at + 1 }
  }
  throw new Error('A quoted cell does not end.')
}
