// raddle: -- -std=c++17
// Containers, strings and smart pointers.
#include <cassert>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

int main() {
    std::map<int, std::string> names;
    for (int i : {5, 2, 8, 1, 3, 9, 7})
        names[i] = "n" + std::to_string(i);
    int last = 0;
    for (auto &[number, name] : names) {
        assert(number > last && name.size() == 2);
        last = number;
    }
    names.erase(5);
    names.erase(1);
    names.erase(9);
    std::string all;
    for (auto it = names.rbegin(); it != names.rend(); ++it)
        all += it->second;
    assert(all == "n8n7n3n2" && names.begin()->first == 2);
    names.clear();
    assert(names.empty());
    std::set<char> letters{'c', 'a', 'b', 'a'};
    assert(letters.size() == 3 && *letters.begin() == 'a' && *letters.rbegin() == 'c');

    std::unordered_map<std::string, int> counts;
    for (const char *word : {"warp", "weft", "warp", "a longer word than fits into the object itself"})
        counts[word]++;
    assert(counts.size() == 3 && counts["warp"] == 2);
    for (int i = 0; i < 40; i++)
        counts[std::to_string(i)] = i;
    assert(counts.size() == 43 && counts["39"] == 39 && counts.count("40") == 0);

    std::list<int> list{1, 2, 3}, more{7, 8};
    list.push_front(0);
    list.splice(list.end(), more);
    list.remove(2);
    int sum = 0;
    for (int i : list)
        sum = 10 * sum + i;
    assert(sum == 1378 && more.empty());

    auto shared = std::make_shared<std::vector<int>>(3, 4);
    std::weak_ptr<std::vector<int>> weak = shared;
    {
        auto other = shared;
        assert(shared.use_count() == 2 && weak.lock()->at(2) == 4);
    }
    shared.reset();
    assert(weak.expired());

    std::function<int(int)> twice = [](int x) { return 2 * x; };
    assert(twice(4) == 8);
    std::unique_ptr<int[]> array(new int[3]{1, 2, 3});
    assert(array[2] == 3);
    std::cout << "text " << all << ' ' << 3 << ' ' << 2.5 << ' ' << true << ' ' << -7L << std::endl;
}
