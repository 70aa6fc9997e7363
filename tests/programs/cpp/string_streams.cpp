// raddle: -- -std=c++20
// bmc: refused
// engines: dpor, rf, rvf, mcr
// Texts that are put together and taken apart, in two threads at once.
#include <cassert>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

static std::mutex lock;
static std::ostringstream shared;

static std::string describe(int id, double value, const std::string &name) {
    std::ostringstream out;
    out << "id=" << id << ' ' << std::setw(4) << std::setfill('0') << 7 << ' ' << std::hex << std::showbase << 255u << std::dec;
    out << ' ' << value << ' ' << std::fixed << std::setprecision(2) << value << ' ' << std::boolalpha << true << ' ' << name << std::endl;
    assert(out.good());
    return out.str();
}

static void worker(int id) {
    std::string text = describe(id, 1.5, "a name that has no room in the string itself");
    assert(text == "id=" + std::to_string(id) + " 0007 0xff 1.5 1.50 true a name that has no room in the string itself\n");
    std::istringstream in("12 -3 word\nrest of it\nlast");
    int first, second;
    std::string word, line;
    assert(in >> first >> second >> word && first == 12 && second == -3 && word == "word");
    assert(std::getline(in, line) && line.empty());
    assert(std::getline(in, line) && line == "rest of it");
    assert(std::getline(in, line) && line == "last" && in.eof());
    assert(!std::getline(in, line));
    std::stringstream both;
    both << 42 << " x";
    int number;
    char letter;
    both >> number >> letter;
    assert(number == 42 && letter == 'x');
    assert(!(both >> number));
    both.clear();
    both.str("");
    std::lock_guard<std::mutex> guard(lock);
    shared << id << ';';
    std::cout << id << std::endl;
}

int main() {
    std::thread one(worker, 1), two(worker, 2);
    one.join();
    two.join();
    assert(shared.str() == "1;2;" || shared.str() == "2;1;");
}
