// Imported before a program: its clock is wrong by CRASH_CLOCK milliseconds. Timers are not, as on a machine with a wrong clock.
const shift = Number(process.env['CRASH_CLOCK'] ?? 0)
const { now } = Date

Date.now = () => now() + shift
globalThis.Date = new Proxy(Date, {
  apply: () => new Date().toString(),
  construct: (date, args, type) => Reflect.construct(date, args.length === 0 ? [date.now()] : args, type) as Date,
})
