/** The part of a page that leads to the next one. */
export interface PageWithCursor<T> {
  readonly data: readonly T[]
  readonly meta: { readonly next_cursor: string | null }
}

/**
 * All records of a list by cursor. Each page is fetched after the previous one was read.
 *
 * @param fetchPage fetches the page after a cursor; without one, the first page.
 * @example
 * const fetchPage = async (next_cursor?: string) =>
 *   (await fetch(`/heros?${new URLSearchParams(next_cursor ? { next_cursor } : {})}`)).json() as Promise<Page<Hero>>
 * for await (const hero of pages(fetchPage)) console.log(hero.name)
 */
export async function* pages<T>(
  fetchPage: (next_cursor?: string) => Promise<PageWithCursor<T>>,
): AsyncGenerator<T, void, undefined> {
  let page = await fetchPage()
  yield* page.data
  while (page.meta.next_cursor !== null) {
    page = await fetchPage(page.meta.next_cursor)
    yield* page.data
  }
}
