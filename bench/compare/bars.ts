import { escape, text } from '../plot.js'
import { type Comparison, REFERENCE, type Spread } from './results.js'
import { works } from './works.js'

const WIDTH = 760
const LEFT = 210
const RIGHT = 60
const TOP = 44
const BAR = 16
const GAP = 34
const OWN = '#2563eb'
const OTHER = '#9ca3af'

/** Bars as SVG: the CPU of each peer as a multiple of the reference's, with the range of the rounds, one group for each work. */
export function bars(title: string, note: string, comparisons: readonly Comparison[]): string {
  const most = Math.max(1, ...comparisons.flatMap(({ rows }) => rows.map(({ cpuRatio }) => cpuRatio?.most ?? 0)))
  const x = (value: number) => LEFT + (value / most) * (WIDTH - LEFT - RIGHT)
  let y = TOP
  const groups = comparisons.map(({ task, rows }) => {
    const top = y
    y += GAP + rows.length * BAR
    const one = x(1).toFixed(1)
    return [
      `<line x1="${one}" x2="${one}" y1="${top + GAP - 14}" y2="${y - 8}" stroke="#222" stroke-dasharray="2 3"/>`,
      `<text x="8" y="${top + 16}" font-weight="600" fill="#222">${escape(`${task.work}: ${works[task.work].title}`)}</text>`,
      ...rows.map(({ peer, title: name, cpuRatio }, index) => {
        const middle = top + GAP + index * BAR - 4
        const label = text(LEFT - 8, middle + 4, name, 'end')
        return cpuRatio ? label + bar(peer, middle, cpuRatio, x) : label
      }),
    ].join('\n')
  })
  const height = y + 30
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${escape(title)}">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="8" y="24" font-size="15" font-weight="600" fill="#222">${escape(title)}</text>`,
    ...groups,
    text(8, height - 8, note, 'start'),
    '</svg>',
    '',
  ].join('\n')
}

function bar(peer: string, middle: number, { median, least, most }: Spread, x: (value: number) => number): string {
  const colour = peer === REFERENCE ? '#222' : peer.startsWith('sequitur') ? OWN : OTHER
  return (
    `<rect x="${LEFT}" y="${middle - 5}" width="${(x(median) - LEFT).toFixed(1)}" height="10" fill="${colour}"/>` +
    `<line x1="${x(least).toFixed(1)}" x2="${x(most).toFixed(1)}" y1="${middle}" y2="${middle}" stroke="#222"/>` +
    text(x(most) + 6, middle + 4, median.toFixed(2), 'start')
  )
}
