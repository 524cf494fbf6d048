/** Answered by the node that is asked, or by all whatever is selected. */
const WITHOUT_SELECTION = /^(nodes|config\/diff)/;

/** The path of a question to all nodes, unless it names others: `/api/v1/log/search?nodes=*&limit=5` for `log/search?limit=5`. */
export function pathOfAll(question: string): string {
  const [path = '', query] = question.split(/\?(.*)/s);
  if (WITHOUT_SELECTION.test(path) || /\b(nodes|role|label)=/.test(query ?? '')) return `/api/v1/${question}`;
  return `/api/v1/${path}?nodes=*${query ? `&${query}` : ''}`;
}
