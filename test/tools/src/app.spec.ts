// The globals of Vitest and of Jest.
declare function test(name: string, run: () => Promise<void>): void

test('the app answers', async () => {
  await import('./main.js')
})
