// The client is generated: npx sequitur client example/recipes/notes.ts --out api.ts --tanstack
import { QueryClient, QueryClientProvider, useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, configure } from './api.js'
import { etagOf, retryOn, seen } from './api.sequitur.js'
import {
  noteChangeMutation,
  noteCreateMutation,
  noteGetOptions,
  noteListInfiniteOptions,
  noteListQueryKey,
} from './api.tanstack.js'

configure({ serverUrl: '', retry: { retries: 3, retryOn }, ...seen() })
// The client repeats requests already; and a copy of what it has returned, as that of structural sharing, has no ETag.
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, structuralSharing: false } } })
const readList = () => queries.invalidateQueries({ queryKey: noteListQueryKey() })

function Notes() {
  const [opened, open] = useState<number>()
  const { data, hasNextPage, fetchNextPage } = useInfiniteQuery(noteListInfiniteOptions({ query: { limit: 10 } }))
  const notes = data?.pages.flatMap((page) => page.data) ?? []
  return (
    <>
      <NewNote />
      {notes.map(({ id, text }) => (
        <p key={id} onClick={() => open(id)}>
          {text}
        </p>
      ))}
      {hasNextPage && <button onClick={() => void fetchNextPage()}>Load more</button>}
      {opened !== undefined && <EditNote key={opened} id={opened} />}
    </>
  )
}

function NewNote() {
  const newKey = () => crypto.randomUUID()
  const [idempotencyKey, setKey] = useState(newKey) // of one text, however often it is sent
  const create = useMutation({ ...noteCreateMutation({ idempotencyKey }), onSuccess: readList })
  const submit = (text: string) => create.mutate({ body: { text } })
  return <TextForm name="Add" text="" submit={submit} change={() => setKey(newKey())} error={create.error} />
}

function EditNote({ id }: { id: number }) {
  // Not read again meanwhile: the ETag is that of the text which the user has seen.
  const { data: note, refetch } = useQuery({
    ...noteGetOptions({ path: { note_id: id } }),
    staleTime: Infinity,
    gcTime: 0,
  })
  const onSuccess = () => Promise.all([readList(), refetch()])
  const change = useMutation({ ...noteChangeMutation(), onSuccess })
  if (!note) return null
  const headers = { 'if-match': etagOf(note) ?? '' }
  const submit = (text: string) => change.mutate({ path: { note_id: id }, body: { text }, headers })
  const isChanged = change.error instanceof ApiError && change.error.status === 412
  return (
    <>
      <TextForm key={headers['if-match']} name="Save" text={note.data.text} submit={submit} error={change.error} />
      {isChanged && <button onClick={() => void refetch()}>Somebody else has changed it: read it again</button>}
    </>
  )
}

interface TextFormProps {
  name: string
  text: string
  submit: (text: string) => void
  change?: () => void
  error: Error | null
}

function TextForm({ name, text, submit, change, error }: TextFormProps) {
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    submit(String(new FormData(event.currentTarget).get('text')))
  }
  return (
    <form onSubmit={onSubmit} onChange={change}>
      <input name="text" aria-label={`${name}: text`} defaultValue={text} />
      <button>{name}</button>
      {error && <output>{error.message}</output>}
    </form>
  )
}

createRoot(document.body).render(
  <QueryClientProvider client={queries}>
    <Notes />
  </QueryClientProvider>,
)
