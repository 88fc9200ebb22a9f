// A socket of jszmq: node jszmq.cjs MODULES ROLE [ENDPOINT]. A client prints "ready", and what it receives in a line.
// A server prints its endpoint when it listens.
const [modules, role, endpoint] = process.argv.slice(2);
const http = require("http");
const zmq = require(modules + "/jszmq");
const show = (...frames) => console.log(frames.map(String).join("|"));

const roles = {
  dealer: () => connected(new zmq.Dealer(), "hello"),
  req: () => connected(new zmq.Req(), "hello"),
  sub: () => {
    const sub = connected(new zmq.Sub());
    sub.subscribe("news");
    return sub;
  },
  router: () => echoing(new zmq.Router()),
  rep: () => echoing(new zmq.Rep()),
  pub: () => {
    const pub = bound(new zmq.Pub());
    setInterval(() => pub.send(["news", "today"]), 100); // it has no subscriber at first
    return pub;
  }
};

function connected(socket, greeting) {
  socket.on("message", show);
  socket.connect(endpoint);
  console.log("ready");
  if (greeting) {
    socket.send(greeting);
  }
  return socket;
}

function echoing(socket) {
  bound(socket).on("message", (...frames) => socket.send(frames));
  return socket;
}

function bound(socket) {
  const server = http.createServer();
  server.listen(0, "127.0.0.1", () => {
    const own = `ws://127.0.0.1:${server.address().port}/`;
    socket.bind(own, server);
    console.log(own);
  });
  return socket;
}

roles[role]();
