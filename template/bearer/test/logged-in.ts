import type { TestApp } from 'sequitur/testing'

export const robin = { name: 'Robin', password: 'bat signal' }

/** Registers a person, and logs in. @returns the headers of the requests that follow. */
export async function logIn({ fetch }: TestApp): Promise<Record<string, string>> {
  await fetch('/account', { method: 'POST', json: robin })
  const response = await fetch('/account/login', { method: 'POST', json: robin })
  const { token } = (await response.json()) as { token: string }
  return { authorization: `Bearer ${token}` }
}
