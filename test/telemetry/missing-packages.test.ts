// Needs a process of its own: packages that are loaded are not missed.
import assert from 'node:assert/strict'
import Module from 'node:module'
import { test } from 'node:test'
import { metrics } from 'sequitur/metrics'
import { openTelemetry } from 'sequitur/opentelemetry'

type Load = (name: string, ...others: unknown[]) => unknown

for (const [name, who, call] of [
  ['@opentelemetry/api', 'openTelemetry()', () => openTelemetry()],
  ['prom-client', 'metrics()', () => metrics()],
] as const) {
  test(`without ${name}, ${who} says what to install`, (t) => {
    const modules = Module as unknown as { _load: Load }
    const load = modules._load
    t.mock.method(modules, '_load', (asked: string, ...others: unknown[]) => {
      if (asked === name) throw new Error(`Cannot find module '${asked}'`)
      return load(asked, ...others)
    })
    assert.throws(call, {
      name: 'BootError',
      message: `${who} needs the package ${name}, which cannot be loaded. Install it: npm install ${name}`,
    })
  })
}
