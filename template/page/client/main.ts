import { client, configure } from './api.js'
import { retryOn, seen } from './api.sequitur.js'

configure({ serverUrl: '', retry: { retries: 3, retryOn }, ...seen() })

for await (const { title } of client.taskList.items()) {
  const item = document.createElement('li')
  item.textContent = title
  document.querySelector('ul')?.append(item)
}
