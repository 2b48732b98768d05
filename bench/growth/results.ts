import { plot } from '../plot.js'

/** One line of a plot, and of the table. */
export interface Line {
  readonly name: string
  /** `CPU of the server, µs`. Lines of one unit share a plot. */
  readonly unit: string
  /** One for each x; null where it was not measured. */
  readonly values: readonly (number | null)[]
}

/** How cost grows with one thing. */
export interface Growth {
  /** `routes`: the name of the option, and of the picture. */
  readonly name: string
  readonly title: string
  /** `routes of the app` */
  readonly x: string
  readonly xs: readonly number[]
  /** When, where and how it was measured. */
  readonly conditions: Readonly<Record<string, unknown>>
  readonly lines: readonly Line[]
}

/** The plots of one thing, one for each unit. */
export function picturesOf({ name, title, x, xs, lines }: Growth): ReadonlyMap<string, string> {
  const units = [...new Set(lines.map(({ unit }) => unit))]
  return new Map(
    units.map((unit, index) => {
      const series = lines
        .filter((line) => line.unit === unit)
        .map((line) => ({
          name: line.name,
          points: xs.flatMap((at, place) => {
            const value = line.values[place] ?? null
            return value === null || value <= 0 ? [] : [[at, value] as const]
          }),
        }))
      return [index === 0 ? `${name}.svg` : `${name}-${index + 1}.svg`, plot(title, x, unit, series)]
    }),
  )
}

/** The figures as a table in Markdown. */
export function tableOf({ x, xs, lines }: Growth): string {
  const rows = lines.map(({ name, unit, values }) => [`${unit}: ${name}`, ...values.map(figure)])
  const head = [
    [x, ...xs.map((value) => value.toLocaleString('en'))],
    ['---', ...xs.map(() => '---:')],
  ]
  return [...head, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function figure(value: number | null): string {
  return value === null ? '' : value.toLocaleString('en', { maximumSignificantDigits: 3 })
}

/** What is said of the figures of a thing. */
export type Explain = (name: string) => string

/** The part of a page about all that was measured: pictures, tables, and what they show. */
export function sectionOf(growths: readonly Growth[], explain: Explain): string {
  const parts = growths.map((growth) => {
    const pictures = [...picturesOf(growth).keys()].map((name) => `![${growth.title}](../bench/growth/${name})`)
    const { date, node, cores, loadBefore } = growth.conditions
    const when = `${String(date).slice(0, 10)}, Node ${String(node)}, ${String(cores)} cores, load ${Number(loadBefore).toFixed(1)} before the start.`
    return [`### ${growth.title}`, ...pictures, tableOf(growth), when, explain(growth.name)].join('\n\n')
  })
  return [HEADING, INTRODUCTION, ...parts].join('\n\n')
}

const HEADING = '## How cost grows'
const INTRODUCTION =
  'Measured by `npm run bench:growth`, which writes this section: CPU of one request, in microseconds, of all processes of the app or of PostgreSQL. ' +
  'The axes of the pictures are logarithmic: a flat line costs the same at any size, and one that rises by a power for each power of its axis is proportional. ' +
  'On a machine that is busy, as the load shows, all figures are too high: read how they grow.'

/** A page with this section in the place of the one that it has. */
export function withSection(page: string, section: string): string {
  return page.replace(/^## How cost grows\n[^]*?(?=^## |$(?![^]))/m, () => `${section}\n\n`)
}
