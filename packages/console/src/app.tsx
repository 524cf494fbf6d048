export function App() {
  return <h1>Porthole</h1>;
}
