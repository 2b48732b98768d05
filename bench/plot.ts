/** One line of a plot. */
export interface Series {
  readonly name: string
  /** x, y; y above 0. */
  readonly points: readonly (readonly [number, number])[]
}

const WIDTH = 760
const HEIGHT = 380
const LEFT = 60
const RIGHT = 190
const TOP = 44
const BOTTOM = 48
const COLOURS = ['#2563eb', '#059669', '#d97706', '#9333ea']

/** A plot as SVG: each x in a column of its own, y in powers of ten. Two series of one name before the comma share a colour. */
export function plot(title: string, x: string, y: string, series: readonly Series[]): string {
  const xs = series[0]?.points.map(([at]) => at) ?? []
  const ys = series.flatMap(({ points }) => points.map(([, at]) => at))
  const [low, high] = [Math.floor(Math.log10(Math.min(...ys))), Math.ceil(Math.log10(Math.max(...ys)))]
  const left = (index: number) => LEFT + (index * (WIDTH - LEFT - RIGHT)) / Math.max(xs.length - 1, 1)
  const top = (value: number) => HEIGHT - BOTTOM - ((Math.log10(value) - low) / (high - low)) * (HEIGHT - TOP - BOTTOM)
  const groups = [...new Set(series.map(({ name }) => name.split(',')[0]))]

  const grid = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)).map(
    (value) =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${top(value)}" y2="${top(value)}" stroke="#8884"/>` +
      text(LEFT - 8, top(value) + 4, String(Number(value.toPrecision(1))), 'end'),
  )
  const columns = xs.map((value, index) =>
    text(left(index), HEIGHT - BOTTOM + 20, value.toLocaleString('en'), 'middle'),
  )
  const lines = series.map(({ name, points }, index) => {
    const colour = COLOURS[groups.indexOf(name.split(',')[0]) % COLOURS.length]
    const dashes = name.includes('offset') ? ' stroke-dasharray="6 4"' : ''
    const path = points.map(([, value], at) => `${left(at).toFixed(1)},${top(value).toFixed(1)}`).join(' ')
    const legend = TOP + 8 + index * 22
    return (
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${dashes}/>` +
      points
        .map(
          ([, value], at) =>
            `<circle cx="${left(at).toFixed(1)}" cy="${top(value).toFixed(1)}" r="3" fill="${colour}"/>`,
        )
        .join('') +
      `<line x1="${WIDTH - RIGHT + 20}" x2="${WIDTH - RIGHT + 48}" y1="${legend}" y2="${legend}" stroke="${colour}" stroke-width="2"${dashes}/>` +
      text(WIDTH - RIGHT + 56, legend + 4, name, 'start')
    )
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${escape(title)}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${LEFT}" y="24" font-size="15" font-weight="600" fill="#222">${escape(title)}</text>`,
    ...grid,
    ...columns,
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x, 'middle'),
    `<text x="16" y="${(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" fill="#444" transform="rotate(-90 16 ${(TOP + HEIGHT - BOTTOM) / 2})">${escape(y)}</text>`,
    ...lines,
    '</svg>',
    '',
  ].join('\n')
}

export function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="#444">${escape(content)}</text>`
}

export function escape(content: string): string {
  return content.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
