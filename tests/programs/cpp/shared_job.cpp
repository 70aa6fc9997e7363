// engines: dpor, rf
// What `std::make_shared` keeps in the raw bytes of its block, and the elements of a vector, have the names of the source.
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Job {
  int id;
  std::string name;
  std::vector<int> data;
};

int main() {
  auto job = std::make_shared<Job>(Job{1, "job", {1, 2, 3}});
  std::thread a([job] { job->data[1] += job->id; });
  std::thread b([job] { job->id = 6; });
  a.join();
  b.join();
}
