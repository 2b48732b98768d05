/** What a client needs of a page to find the next one. */
export interface Following<T> {
  readonly data: readonly T[]
  readonly meta: { readonly next_cursor: string | null }
}

/**
 * All records of a list by cursor, page after page, each page fetched when the one before was read.
 *
 * @param fetchPage fetches the page of a cursor; the first page without one.
 * @example
 * const fetchPage = async (next_cursor?: string) =>
 *   (await fetch(`/heros?${new URLSearchParams(next_cursor ? { next_cursor } : {})}`)).json() as Promise<Page<Hero>>
 * for await (const hero of pages(fetchPage)) console.log(hero.name)
 */
export async function* pages<T>(
  fetchPage: (next_cursor?: string) => Promise<Following<T>>,
): AsyncGenerator<T, void, undefined> {
  let page = await fetchPage()
  yield* page.data
  while (page.meta.next_cursor !== null) {
    page = await fetchPage(page.meta.next_cursor)
    yield* page.data
  }
}
