import type { TestContext } from 'node:test'
import { type AppOptions, createApp } from 'sequitur'
import { type TestApp, testApp } from 'sequitur/testing'
import type { Constructor } from '../../src/di/token.js'

/*
 * Apps without a database, for tests of HTTP.
 */

export interface LoggedApp extends TestApp {
  /** The errors and warnings that it logged. */
  readonly log: string[]
}

/** Starts an app with these controllers, which is closed at the end of the test. */
export async function api(
  t: TestContext,
  controllers: readonly Constructor[],
  options: Partial<AppOptions> = {},
): Promise<LoggedApp> {
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const app = await testApp({ controllers, logger: { info() {}, warn: write, error: write }, ...options })
  t.after(app.close)
  return { ...app, log }
}

/** The name and the message of the error that createApp() throws for these controllers. */
export function bootMessage(controllers: readonly Constructor[], options: Partial<AppOptions> = {}): string {
  try {
    createApp({ controllers, logger: false, ...options })
  } catch (error) {
    if (error instanceof Error && error.name.endsWith('Error')) return `${error.name}: ${error.message}`
    throw error
  }
  return 'it started'
}
