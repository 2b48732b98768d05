import { types } from 'pg'

/** Whether a type reads every value of the kinds that models bind. */
type Reads = (value: unknown) => boolean

const { BOOL, BPCHAR, FLOAT8, INT2, INT4, INT8, NUMERIC, TEXT, TIMESTAMP, TIMESTAMPTZ, VARCHAR } = types.builtins

const isIntegerUpTo =
  (bound: number): Reads =>
  (value) =>
    Number.isInteger(value) && Math.abs(Number(value)) <= bound
const isText: Reads = (value) => typeof value === 'string'
const isTime: Reads = (value) => isText(value) && TIME.test(String(value))
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \+00:00$/

const READS: ReadonlyMap<number, Reads> = new Map([
  [BOOL, (value) => typeof value === 'boolean'],
  [INT2, isIntegerUpTo(0x7fff)],
  [INT4, isIntegerUpTo(0x7fff_ffff)],
  [INT8, isIntegerUpTo(Number.MAX_SAFE_INTEGER)],
  [FLOAT8, Number.isFinite],
  [NUMERIC, Number.isFinite],
  [TEXT, isText],
  [VARCHAR, isText],
  [BPCHAR, isText],
  [TIMESTAMP, isTime],
  [TIMESTAMPTZ, isTime],
])

/** Whether parameters of these types can read these values. False if that is not known. */
export function canRead(types: readonly number[], values: readonly unknown[]): boolean {
  return values.every((value, index) => value === null || READS.get(types[index] ?? 0)?.(value) === true)
}
