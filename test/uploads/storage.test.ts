import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Controller, Post } from 'sequitur'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'
import { api } from '../support/api.js'
import { formOf, noTemporaryFiles, sendForm, temporaryFiles } from '../support/uploads.js'

/*
 * A temporary folder that is full or was removed: 503, and the next form is stored when it is there again.
 */

class Upload {
  @File({ maxSize: 600_000 }) file!: UploadedFile
}

@Controller('/')
class Uploads {
  @Post('/') async size(@Multipart() { file }: Upload) {
    return { size: (await file.bytes()).length }
  }
}

const form = () => formOf(['file', randomBytes(500_000), 'a'])

/** What every operation of an open file does that has this name. */
async function fileHandles(): Promise<FileHandle> {
  const handle = await open('/dev/null')
  await handle.close()
  return Object.getPrototypeOf(handle) as FileHandle
}

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: the system says no`), { code })
}

async function refusesWhile(t: TestContext, breakIt: () => void, mend: () => void) {
  const { log, ...app } = await api(t, [Uploads])
  assert.equal((await sendForm(app, '/', form())).status, 201)
  breakIt()
  const { status, json } = await sendForm(app, '/', form())
  mend()
  assert.deepEqual([status, json.detail], [503, 'The files cannot be stored now; try again later.'])
  assert.match(log.join('\n'), /caused by Error: (?:ENOSPC|EDQUOT|EIO|ENOENT)/)
  const again = await sendForm(app, '/', form())
  assert.deepEqual([again.status, again.json], [201, { size: 500_000 }])
  await noTemporaryFiles()
}

for (const code of ['ENOSPC', 'EDQUOT', 'EIO'])
  test(`a form is a 503 while its file cannot be written: ${code}`, async (t) => {
    const handles = await fileHandles()
    const breakIt = () => t.mock.method(handles, 'writeFile', () => Promise.reject(failure(code)))
    await refusesWhile(t, breakIt, () => t.mock.restoreAll())
  })

test('a form is a 503 while its folder is missing', async (t) => {
  const folder = join(tmpdir(), 'gone')
  const before = process.env['TMPDIR']
  t.after(() => {
    process.env['TMPDIR'] = before
    rmSync(folder, { recursive: true })
  })
  mkdirSync(folder)
  process.env['TMPDIR'] = folder
  await refusesWhile(
    t,
    () => rmSync(folder, { recursive: true }),
    () => mkdirSync(folder),
  )
})

test('a form that fits into memory needs no folder', async (t) => {
  const app = await api(t, [Uploads])
  const handles = await fileHandles()
  t.mock.method(handles, 'writeFile', () => Promise.reject(failure('ENOSPC')))
  assert.equal((await sendForm(app, '/', formOf(['file', randomBytes(1000), 'a']))).status, 201)
  assert.deepEqual(temporaryFiles(), [])
})
