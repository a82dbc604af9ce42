import type { Page } from 'playwright-core'

/** More than any page has to pass. */
const MOST_TABS = 80

/** The accessible name of the focused element. */
const FOCUSED = `(() => {
  const at = document.activeElement
  const label = at?.labels?.[0]?.innerText
  return (at?.getAttribute('aria-label') ?? label ?? at?.innerText ?? '').trim()
})()`

/** Presses Tab until the element of this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = []
  for (let count = 0; count < MOST_TABS; count += 1) {
    await page.keyboard.press('Tab')
    const here = String(await page.evaluate(FOCUSED))
    if (here === name) return
    passed.push(here)
  }
  throw new Error(`Tab does not lead to "${name}"; it passed ${passed.join(' | ')}`)
}

/** Goes to a field and types into it. */
export async function typeInto(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.type(text)
}
