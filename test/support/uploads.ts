import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestApp } from 'sequitur/testing'
import type { InputIssue } from 'sequitur'
import { tmpdir } from 'node:os'
import { until } from './waiting.js'

/*
 * Multipart forms, and the temporary files that they leave.
 */

// Of this process alone: other tests make temporary files, too.
process.env['TMPDIR'] = mkdtempSync(join(tmpdir(), 'uploads-test-'))

/** The temporary files of all requests. */
export function temporaryFiles(): readonly string[] {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith('sequitur-upload-'))
  return folders.flatMap((folder) => [folder, ...readdirSync(join(tmpdir(), folder))])
}

export function noTemporaryFiles(): Promise<void> {
  return until('there are no temporary files', () => temporaryFiles().length === 0)
}

/** A part: its name, its content, its file name, and its media type. */
export type Part = readonly [name: string, content: string | Uint8Array, fileName?: string, type?: string]

export function formOf(...parts: readonly Part[]): FormData {
  const form = new FormData()
  for (const [name, content, fileName, type = ''] of parts)
    if (fileName === undefined) form.append(name, String(content))
    else form.append(name, new Blob([content as string], { type }), fileName)
  return form
}

export interface Answer {
  readonly status: number
  // any: what a test expects of it, its assertions say.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  readonly errors: readonly InputIssue[] | undefined
}

/** Sends a form, or the bytes of one whose boundary is X. */
export async function sendForm(
  { fetch }: Pick<TestApp, 'fetch'>,
  path: string,
  body: FormData | string | Uint8Array,
  type = 'multipart/form-data; boundary=X',
): Promise<Answer> {
  const headers = body instanceof FormData ? {} : { 'content-type': type }
  const response = await fetch(path, { method: 'POST', body: body as string, headers })
  const json = JSON.parse((await response.text()) || '{}')
  return { status: response.status, json, errors: json.errors }
}

/** The bytes of parts, each with its header lines, between the boundaries X. */
export function rawForm(...parts: readonly (readonly [header: string, content: string])[]): string {
  return `${parts.map(([header, content]) => `--X\r\n${header}\r\n\r\n${content}\r\n`).join('')}--X--\r\n`
}
